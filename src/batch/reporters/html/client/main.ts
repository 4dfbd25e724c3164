import { byId } from '../../../../reporters/html/client/elements.js';
import { themeSwitch } from '../../../../reporters/html/client/theme.js';
import { Details } from './details.js';
import { Filter } from './filter.js';

const changeTheme = themeSwitch();
const details = new Details();
const filter = new Filter(details);

document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key === 'Escape') filter.clear();
  else if (typing) return;
  else if (event.key === '/') byId('query').focus();
  else if (event.key === 'd') changeTheme();
  else return;
  event.preventDefault();
});
addEventListener('hashchange', openNamed);
openNamed();
document.documentElement.dataset['ready'] = 'yes';

/** Opens the task that the address names, whatever the filter. */
function openNamed(): void {
  const task = /^#t\d+$/.test(location.hash) ? document.getElementById(location.hash.slice(1)) : null;
  if (!(task instanceof HTMLDetailsElement)) return;
  if (task.parentElement) task.parentElement.hidden = false;
  task.open = true;
  task.scrollIntoView({ block: 'center' });
}
