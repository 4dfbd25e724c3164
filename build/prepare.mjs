// npm runs this after an installation in a clone, and before packing. Packages that were installed have their dist.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

if (canBuild()) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: 'inherit',
    shell: true,
  });
  process.exitCode = status ?? 1;
} else if (!existsSync(`${root}dist/cli.js`)) {
  process.stderr.write(
    'bosun: dist/ is not built, and what builds it is not installed. Install it: npm ci --include=dev\n',
  );
  process.exitCode = 1;
}

function canBuild() {
  const { resolve } = createRequire(import.meta.url);
  try {
    return Boolean(resolve('esbuild') && resolve('typescript/package.json'));
  } catch {
    return false;
  }
}
