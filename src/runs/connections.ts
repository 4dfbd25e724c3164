/** For code that starts many runs. */
export { Connections } from '../providers/http/connections.js';
