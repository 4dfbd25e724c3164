import type { Content } from './content.js';
import type { JsonSchema } from './tool.js';

/** How the next answer is asked for, where not as usual. */
export interface AnswerForm {
  /** The answer must be JSON of this shape. No tools are offered then. */
  readonly schema: JsonSchema;
}

/** What becomes of an answer that has no calls: it is the end, or the model is told what is wrong with it. */
export type Review =
  | { readonly type: 'accepted'; readonly response: string; readonly structured?: unknown }
  | {
      readonly type: 'again';
      readonly ask: Content;
      readonly form?: AnswerForm;
      readonly why: string;
      /** What has to be fixed: the `reason` of the result, if it is not. */
      readonly repair: string;
    }
  | {
      readonly type: 'given_up';
      readonly reason: string;
      readonly message: string;
      readonly structured?: unknown;
    };

export type Reviewer = (response: string) => Promise<Review>;
