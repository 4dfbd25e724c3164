import { basename, relative, resolve, sep } from 'node:path';
import { errorMessage } from '../lib/files.js';
import { isInside, realPath } from '../lib/real-path.js';
import type { PathUse } from '../protocol/tool.js';

export interface ScopeSettings {
  /** The real path of the workspace. */
  readonly workspace: string;
  /** Absolute paths, files or whole directories, that no call may write. */
  readonly writeProtected: readonly string[];
}

/** Why a path may not be touched: it is a mistake (`outside`), or it is forbidden (`denied`). */
export type PathFault = { readonly outside: string } | { readonly denied: string };

/** Inside any workspace: what makes other programs run code, or run the next job with more rights. */
const WRITE_PROTECTED = ['.git', '.github/workflows'];

/** Names of files that hold secrets, wherever they are. Compared in lower case. */
const SECRET_NAMES = [
  /^\.env/,
  /\.(pem|key|p12|pfx|jks|keystore)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)/,
  /^(\.netrc|_netrc|\.git-credentials|\.pgpass|\.htpasswd|\.npmrc|\.pypirc)$/,
  /^gha-creds-.*\.json$/,
];
const SECRET_FOLDERS = new Set(['.ssh', '.aws', '.gnupg', '.kube', '.docker', '.azure']);
/** Ends of paths: where git and the clouds' tools keep tokens. */
const SECRET_PATHS = ['.git/config', '.git/credentials', '.config/gcloud'];

/** The hard boundary: holds in every mode and whatever else is allowed. */
export class PathScope {
  readonly #settings: ScopeSettings;

  constructor(settings: ScopeSettings) {
    this.#settings = settings;
  }

  fault(use: PathUse): PathFault | undefined {
    const { workspace } = this.#settings;
    let path: string;
    try {
      path = realPath(resolve(workspace, use.path));
    } catch (error) {
      return { outside: `${use.path} cannot be resolved: ${errorMessage(error)}` };
    }
    if (!isInside(workspace, path)) {
      return { outside: `${use.path} is outside the workspace ${workspace}. Use a path inside it.` };
    }
    // The name it was asked for counts as well: a secret may be a link to where it is kept.
    const asked = resolve(workspace, use.path);
    if ([path, asked].some((name) => holdsSecrets(relative(workspace, name)))) {
      return { denied: `${use.path} is a file that holds secrets; it is never read or written.` };
    }
    if (use.access === 'write' && this.#isProtected(path)) {
      return { denied: `${use.path} is protected and never written.` };
    }
    return undefined;
  }

  #isProtected(path: string): boolean {
    const { workspace, writeProtected } = this.#settings;
    const own = relative(workspace, path).toLowerCase();
    const fixed = WRITE_PROTECTED.some((name) => own === name || own.startsWith(`${name}/`));
    // A nested repository's own `.git` runs hooks just as well.
    return fixed || own.split(sep).includes('.git') || writeProtected.some((root) => isInside(root, path));
  }
}

function holdsSecrets(path: string): boolean {
  const name = basename(path).toLowerCase();
  const whole = `/${path.toLowerCase()}/`;
  return (
    SECRET_NAMES.some((pattern) => pattern.test(name)) ||
    SECRET_PATHS.some((end) => whole.includes(`/${end}/`)) ||
    path.split(sep).some((folder) => SECRET_FOLDERS.has(folder.toLowerCase()))
  );
}
