import { listenToCharts } from './charts.js';
import { Filter } from './filter.js';
import { listenToKeys } from './keys.js';
import { Rows } from './rows.js';
import { Store } from './store.js';
import { themeSwitch } from './theme.js';
import { TimeWindow } from './time-window.js';

const changeTheme = themeSwitch();
const store = new Store();
const rows = new Rows(store);
const filter = new Filter(rows, store);
const time = new TimeWindow(store.index, rows, (from, to) => filter.setTime(from, to));
listenToKeys({ rows, filter, time, changeTheme });
listenToCharts(store.index, rows);
addEventListener('hashchange', () => rows.openNamed(location.hash));
rows.openNamed(location.hash);
document.documentElement.dataset['ready'] = 'yes';
