// Everything that opens pages, in one suite: a browser, and what drives it, take a second to start.
import './pages/batch-html.js';
import './pages/html-report.js';
import './pages/html-report-hostile.js';
import './pages/html-report-size.js';
import './pages/html-report-use.js';
import './pages/learnt-rules-page.js';
// They have something to do in these tiers: jest.config.mjs.
import '../helpers/bounds.js';
import '../helpers/counts.js';
import '../helpers/this-process.js';
