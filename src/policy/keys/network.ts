import { readHostPattern, type HostPattern } from '../network.js';
import { policyProblem, type PolicySource } from '../place.js';
import { key } from './row.js';
import { oneOf, text, texts } from './schemas.js';

export const NETWORK = {
  at: 'network',
  each: true,
  rows: {
    allow: key(
      texts('host, *.host (its subdomains), * (any public host); also with scheme and port.', {
        examples: [['api.github.com', '*.example.org', 'https://example.org:8443']],
      }),
      {
        key: 'network.allow',
        read: (entries, source) => entries.map((entry, i) => hostPattern(entry, source, i)),
        empty: [],
        extend: 'append',
        combine: 'each',
      },
    ),
    private: key(
      oneOf(['allow', 'deny'], 'Whether hosts that are listed literally may have private addresses.'),
      {
        key: 'network.private',
        default: 'deny',
        extend: 'override',
        combine: 'each',
      },
    ),
  },
} as const;

export const WEB = {
  webModel: key(
    text('A Gemini model for look-ups of web_fetch and google_web_search; default: that of the run.', {
      examples: ['gemini-2.5-flash'],
    }),
    { key: 'web.model', required: true, extend: 'override', combine: 'first' },
  ),
} as const;

function hostPattern(entry: string, source: PolicySource, index: number): HostPattern {
  const pattern = readHostPattern(entry);
  if (typeof pattern !== 'string') return pattern;
  throw policyProblem(source, ['network', 'allow', index], `\`${entry}\`: ${pattern}`);
}
