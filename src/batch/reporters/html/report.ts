import { frameStart } from '../../../reporters/html/frame.js';
import { Html, jsonFor, markup } from '../../../reporters/html/markup.js';
import type { BatchStory } from '../story.js';
import { SCRIPT, STYLE } from './assets.js';
import { classes } from './classes.js';
import { detailOf } from './detail.js';
import { batchHead, batchTitle } from './head.js';
import { taskList, type RunLink } from './list.js';

/** A page about a batch, in pieces to be written in order. */
export function* batchHtml(story: BatchStory, linkOf: RunLink = () => undefined): Generator<string> {
  for (const piece of pieces(story, linkOf)) yield piece.text;
}

function* pieces(story: BatchStory, linkOf: RunLink): Generator<Html> {
  const { record, results, state } = story;
  yield frameStart({
    title: `${batchTitle(state)}: Bosun batch ${record.name}`,
    ...{ script: SCRIPT, style: STYLE, skip: ['tasks', 'Skip to the tasks'] },
  });
  yield markup`<header>
<div class="tools"><button type="button" id="theme" hidden>Dark</button></div>
${batchHead(story)}
</header>
<main id="main" tabindex="-1">
${classes(results)}
`;
  yield* taskList(results, linkOf);
  yield markup`</main>
<footer><p class="fine">Written by Bosun. The page loads nothing; it links to the pages of the runs in the folder beside it.</p></footer>
<script type="application/json" id="details">[`;
  for (const [i, result] of results.entries())
    yield markup`${i > 0 && Html.trusted(',\n')}${jsonFor(detailOf(result))}`;
  yield markup`]</script>
<script>${Html.trusted(SCRIPT)}</script>
</body>
</html>
`;
}
