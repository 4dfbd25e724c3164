import type { Content } from './content.js';
import type { JsonSchema } from './tool.js';

/** How the next answer is requested, if not as usual. */
export interface AnswerForm {
  /** The answer must be JSON of this shape. No tools are offered then. */
  readonly schema: JsonSchema;
}

/** What happens to an answer without calls: it is the end, or the model is told what is wrong with it. */
export type Review =
  | { readonly type: 'accepted'; readonly response: string; readonly structured?: unknown }
  | {
      readonly type: 'again';
      readonly ask: Content;
      readonly form?: AnswerForm;
      readonly why: string;
      /** What must be fixed: the `reason` of the result if it is not. */
      readonly repair: string;
    }
  | {
      readonly type: 'given_up';
      readonly reason: string;
      readonly message: string;
      readonly structured?: unknown;
    };

export type Reviewer = (response: string) => Promise<Review>;
