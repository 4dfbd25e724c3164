// Runs the program once, as bin/bosun.js does, and keeps what V8 has compiled by the end: see bin/load.js.
require('../bin/load.js').main(process.argv, true);
