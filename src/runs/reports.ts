/** Reports that are written when a run is over, for the command line. */
export { openReports, type Report } from '../reporters/open-reports.js';
export { readTarget, type ReportTarget } from '../reporters/targets.js';
