/** What the command line knows of providers and reporters without loading them. */
export {
  ACCESS_VARIABLES,
  BASE_URL_VARIABLES,
  choiceOf,
  CREDENTIAL_LINES,
  DEFAULT_MODEL,
  MODEL_NAMES,
  PROVIDERS,
} from '../providers/registry.js';
export {
  canFollow,
  DOCUMENT_NAMES,
  isReporter,
  REPORTER_NAMES,
  spelling,
  type DocumentName,
} from '../reporters/registry.js';
