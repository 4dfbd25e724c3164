/** What the command line knows of reporters before one is asked for. */
export {
  canFollow,
  DOCUMENT_NAMES,
  isReporter,
  REPORTER_NAMES,
  spelling,
  type DocumentName,
} from '../reporters/registry.js';
