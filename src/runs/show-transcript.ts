import { reportRecorded, type ReportOptions } from '../reporters/recorded.js';
import { readTranscript } from '../transcript/reader.js';

/** Shows a transcript as if its run had just happened. Without a result, it is shown as far as it goes. */
export function reportTranscript(path: string, options: ReportOptions): void {
  reportRecorded(readTranscript(path), options);
}
