/** What writes reports: loaded only if some are asked for. */
export { bareResult } from '../runs/endings.js';
export { openReports, readTarget } from '../runs/reports.js';
