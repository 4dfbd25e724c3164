#!/usr/bin/env node
'use strict';
require('./load.js').main(process.argv);
