/** What the command line knows of providers before one is asked. */
export {
  ACCESS_VARIABLES,
  BASE_URL_VARIABLES,
  choiceOf,
  CREDENTIAL_LINES,
  MODEL_CREDENTIALS,
  PROVIDERS,
} from '../providers/registry.js';
