/** What writes reports: loaded only if some are asked for. */
export { bareResult } from '../runs/endings.js';
export { readTarget } from '../runs/report-targets.js';
export { openReports } from '../runs/reports.js';
