import { wordsOf } from '../../lib/text.js';
import type { ProgramHazards } from './options.js';

/** pip, and the programs that check and test in Python and other languages. */
export const CHECKERS: Readonly<Record<string, ProgramHazards>> = {
  pip: { long: wordsOf('log log-file report python target root prefix src cache-dir'), short: 't' },
  pytest: {
    long: wordsOf(`
      config-file rootdir confcutdir basetemp override-ini import-mode pdbcls junit-xml junitxml log-file debug pastebin
      report-log resultlog html json-report-file cov-report cov-config pyargs tx px rsyncdir
    `),
    // More arguments, including options, are read from a file.
    words: /^@/,
    ownFile: ['config-file', 'c'],
    short: 'pco',
  },
  ruff: { long: ['output-file', 'cache-dir'], short: 'o' },
  mypy: {
    words: /^@/,
    long: wordsOf(`
      python-executable install-types junit-xml cache-dir config-file shadow-file any-exprs-report cobertura-xml-report
      html-report linecount-report linecoverage-report lineprecision-report txt-report xml-report xslt-html-report
      xslt-txt-report custom-typeshed-dir
    `),
    ownFile: ['config-file'],
  },
  flake8: { long: wordsOf('output-file config append-config enable-extensions'), ownFile: ['config'] },
  pylint: {
    long: wordsOf('init-hook load-plugins output output-format rcfile generate-rcfile'),
    ownFile: ['rcfile', 'output-format', 'f'],
    short: 'f',
  },
  'golangci-lint': {
    long: wordsOf('config out-format cpu-profile-path mem-profile-path trace-path output'),
    ownFile: ['config', 'c', 'out-format'],
    short: 'c',
  },
  phpunit: {
    long: wordsOf(`
      bootstrap configuration log-junit log-teamcity testdox-html testdox-text testdox-xml coverage-clover
      coverage-cobertura coverage-crap4j coverage-html coverage-php coverage-text coverage-xml cache-directory
      generate-configuration printer loader extension include-path
    `),
    ownFile: ['configuration', 'c'],
    short: 'cd',
  },
  rspec: {
    long: wordsOf('require out options default-path init format'),
    ownFile: ['format', 'f'],
    short: 'roIOf',
  },
  rubocop: {
    long: wordsOf('require out config format plugin cache-root'),
    ownFile: ['config', 'c', 'format', 'f'],
    short: 'rocf',
  },
};
