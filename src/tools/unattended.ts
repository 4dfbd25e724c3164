/** Keeps programs from asking, paging, or opening an editor, whatever other settings say. */
const ALWAYS: Readonly<Record<string, string>> = {
  CI: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  GIT_EDITOR: 'true',
  TERM: 'dumb',
  DEBIAN_FRONTEND: 'noninteractive',
};

/** For programs that have their own ways to do so. A policy that sets one of these does it on purpose. */
const UNLESS_SET: Readonly<Record<string, string>> = {
  EDITOR: 'true',
  VISUAL: 'true',
  GIT_SEQUENCE_EDITOR: 'true',
  MANPAGER: 'cat',
  SYSTEMD_PAGER: 'cat',
  GH_PAGER: 'cat',
  AWS_PAGER: '',
  // An empty one keeps git from looking for another program, which could open a window.
  GIT_ASKPASS: '',
  SSH_ASKPASS_REQUIRE: 'never',
  GCM_INTERACTIVE: 'never',
  GH_PROMPT_DISABLED: '1',
  npm_config_yes: 'true',
  COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
  PIP_NO_INPUT: '1',
  COMPOSER_NO_INTERACTION: '1',
  APT_LISTCHANGES_FRONTEND: 'none',
  CLOUDSDK_CORE_DISABLE_PROMPTS: '1',
  TF_INPUT: '0',
};

/** The environment of a command that nobody watches. */
export function unattended(environment: Readonly<Record<string, string>>): Record<string, string> {
  return { ...UNLESS_SET, ...environment, ...ALWAYS };
}
