import { resolve } from 'node:path';
import { errorMessage } from '../lib/errors.js';
import { makesRepository } from '../lib/git.js';
import { globMatcher } from '../lib/glob.js';
import { isInside, pathFrom, realPath } from '../lib/real-path.js';
import { holdsProtected, protectionOf } from '../protocol/protected-paths.js';
import type { PathUse } from '../protocol/tool.js';
import type { RuleSet } from './fold.js';

export interface ScopeSettings {
  /** The real path of the workspace. */
  readonly workspace: string;
  /** Absolute paths, files or whole folders, that no call may write. */
  readonly writeProtected: readonly string[];
}

/** Why a path may not be touched: it is a mistake (`outside`), or it is forbidden (`denied`). */
export type PathFault = { readonly outside: string } | { readonly denied: string };

/** Names of files that hold secrets, wherever they are. */
const SECRET_NAMES = [
  String.raw`\.env[^/]*|\.dev\.vars[^/]*`,
  String.raw`[^/]*\.(?:pem|key|p12|pfx|jks|keystore|ppk|kdbx|ovpn|keytab)`,
  String.raw`id_(?:rsa|dsa|ecdsa|ed25519)[^/]*`,
  String.raw`\.netrc|_netrc|\.git-credentials|\.pgpass|\.htpasswd|\.npmrc|\.pypirc`,
  String.raw`\.my\.cnf|\.mylogin\.cnf|\.s3cfg|\.boto|\.databrickscfg|\.terraformrc|\.vault-token|\.dockercfg`,
  String.raw`gha-creds-[^/]*\.json|application_default_credentials\.json|service[-_]account[^/]*\.json`,
  // The credentials of a GitHub runner.
  String.raw`\.credentials(?:_rsaparams)?`,
];
/** Folders of secrets, and where git, package managers and cloud tools keep tokens. */
const SECRET_PLACES = [
  String.raw`\.(?:ssh|aws|gnupg|kube|docker|azure|password-store|oci|pulumi|snowsql)`,
  String.raw`\.git/(?:config(?:\.worktree)?|credentials|modules/(?:[^/]+/)+config(?:\.worktree)?)`,
  String.raw`\.config/(?:gcloud|gh|hub|glab-cli|doctl|op|rclone|sops)`,
  String.raw`\.(?:cargo|gem)/credentials[^/]*|\.m2/settings[^/]*\.xml|\.composer/auth\.json`,
  String.raw`\.terraform\.d/credentials[^/]*|\.local/share/keyrings`,
  // Outside of any workspace, but commands may name them.
  String.raw`etc/(?:g?shadow-?|sudoers(?:\.d)?|ssl/private|ssh/ssh_host_[^/]*|kubernetes)`,
  String.raw`(?:var/)?run/secrets`,
];
/** One expression, because searches test every file that they find. */
const SECRET = new RegExp(
  `(?:^|/)(?:(?:${SECRET_NAMES.join('|')})$|(?:${SECRET_PLACES.join('|')})(?:/|$))`,
  'i',
);

/** Whether a path, from the top of a workspace, is one where secrets are kept, whatever a policy says. */
export function keepsSecrets(path: string): boolean {
  return SECRET.test(path);
}

/** Disks and memory contain every file. */
const RAW =
  /^\/dev\/(?:(?:[hsv]d[a-z]|xvd|nvme|mmcblk|md\d|md_|dm-|loop|nbd|zram|ram\d|sr\d)[^/]*$|(?:mem|kmem|port)$|(?:mapper|disk|block)(?:\/|$))/;

/** The hard boundary: applies in every mode, whatever else is allowed. */
export class PathScope {
  readonly #settings: ScopeSettings;
  readonly #roots: readonly string[];
  readonly #readDeny: (path: string) => boolean;
  readonly #writeDeny: (path: string) => boolean;
  readonly #writeAllow: (path: string) => boolean;

  constructor(settings: ScopeSettings, { include, readDeny, writeDeny, writeAllow }: RuleSet['workspace']) {
    this.#settings = settings;
    this.#roots = [settings.workspace, ...include.map((path) => realPath(resolve(settings.workspace, path)))];
    this.#readDeny = globMatcher(readDeny, { ignoreCase: true });
    this.#writeDeny = globMatcher(writeDeny, { ignoreCase: true });
    this.#writeAllow = globMatcher(writeAllow);
  }

  fault(use: PathUse): PathFault | undefined {
    const { workspace } = this.#settings;
    const asked = resolve(workspace, use.path);
    let path: string;
    try {
      path = use.real ?? realPath(asked);
    } catch (error) {
      return { outside: `${use.path} cannot be resolved: ${errorMessage(error)}` };
    }
    if (!this.isInside(path)) {
      return { outside: `${use.path} is outside the workspace ${workspace}. Use a path inside it.` };
    }
    // The requested name counts as well: a secret may be a link to where it is kept.
    if (this.isSecret(path) || this.isSecret(asked)) {
      return { denied: `${use.path} is a file that holds secrets; it is never read or written` };
    }
    const reason = use.access === 'write' ? this.writeFault(path) : undefined;
    return reason === undefined ? undefined : { denied: protectedMessage(use.path, reason) };
  }

  isInside(path: string): boolean {
    return this.#roots.some((root) => isInside(root, path));
  }

  isSecret(path: string): boolean {
    const own = this.#relative(path);
    return isInside('/proc', path) || RAW.test(path) || keepsSecrets(own) || this.#readDeny(own);
  }

  isProtected(path: string): boolean {
    return this.protection(path) !== undefined;
  }

  /** Why a path may not be written, if so: '' if there is no more to say. */
  protection(path: string): string | undefined {
    const own = this.#relative(path);
    if (this.#writeDeny(own)) return '';
    if (this.#writeAllow(own)) return undefined;
    if (this.#settings.writeProtected.some((root) => isInside(root, path))) return '';
    return protectionOf(this.#fromRoot(path));
  }

  /** `protection`, also by what is next to the path. */
  writeFault(path: string): string | undefined {
    const isAllowed = this.#writeAllow(this.#relative(path));
    return this.protection(path) ?? (!isAllowed && makesRepository(path) ? REPOSITORY : undefined);
  }

  /** Whether it is a folder that contains protected files: moving or removing it affects them. */
  holdsProtected(path: string): boolean {
    return holdsProtected(this.#fromRoot(path)) && !this.#writeAllow(this.#relative(path));
  }

  /** Relative to the root (a folder to work in) that it is in. */
  #fromRoot(path: string): string {
    return pathFrom(this.#roots.find((root) => isInside(root, path)) ?? this.#settings.workspace, path);
  }

  /** As globs see it: relative to the workspace, with `/`. */
  #relative(path: string): string {
    return pathFrom(this.#settings.workspace, path);
  }
}

const REPOSITORY = 'with it, git takes the folder for a repository and obeys its settings';

export function protectedMessage(path: string, reason: string): string {
  return `${path} is protected and never written${reason && `: ${reason} (workspace.write_allow lifts that)`}`;
}
