// The licences of what is bundled: whoever passes the bundle on passes them on, too.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const LEGAL = /^(licen[cs]e|copying|notice)([.-].*)?$/i;
const RULE = '-'.repeat(80);

/**
 * @param {readonly import('esbuild').Metafile[]} metafiles
 * @param {string} root
 */
export function thirdPartyNotices(metafiles, root) {
  const used = metafiles.flatMap(({ outputs }) =>
    Object.values(outputs).flatMap(({ inputs }) =>
      Object.entries(inputs).flatMap(([path, { bytesInOutput }]) => (bytesInOutput > 0 ? path : [])),
    ),
  );
  const folders = new Set(
    used.filter((path) => path.includes('node_modules/')).map((path) => packageOf(path, root)),
  );
  const packages = [...folders].map((folder) => noticeOf(folder));
  const sorted = packages.sort((a, b) => (a.title < b.title ? -1 : 1));
  const about = 'Bosun is bundled with the following packages. Their licences apply to their parts of it.';
  return `${[about, ...sorted.map(({ title, text }) => `${RULE}\n${title}\n\n${text}`)].join('\n\n')}\n`;
}

/** The nearest folder above a file whose package.json has a name and a version. */
function packageOf(path, root) {
  for (let folder = dirname(join(root, path)); folder !== dirname(folder); folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version) return folder;
  }
  throw new Error(`${path} belongs to no package`);
}

function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).sort();
  const texts = files
    .filter((file) => LEGAL.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  const readme = files.find((file) => /^readme/i.test(file));
  if (texts.length === 0 && readme) texts.push(...licenceIn(readFileSync(join(folder, readme), 'utf8')));
  if (!license || texts.length === 0) throw new Error(`${name} ${version} comes without its licence`);
  return { title: `${name} ${version} (${license})`, text: texts.map((text) => text.trim()).join('\n\n') };
}

/** Some packages have their licence at the end of the README only. */
function licenceIn(readme) {
  const found = /^(?:#+ *licen[cs]e.*|licen[cs]e\n-+)\n([\s\S]*copyright[\s\S]*)$/im.exec(readme);
  return found ? [found[1]] : [];
}
