import { describe, expect, test } from '@jest/globals';
import { pathsToHide } from '../../src/sandbox/bubblewrap/paths-to-hide.js';

const files = (folder: string, n: number) => Array.from({ length: n }, (_, i) => `${folder}/.env.${i}`);

describe('paths to hide', () => {
  test('are hidden one by one while they are few', () => {
    expect(pathsToHide('/w', files('/w/a', 5), 5)).toEqual(files('/w/a', 5));
  });

  test('are hidden with their folders where they are many, the fullest first', () => {
    const found = pathsToHide('/w', [...files('/w/a', 10), ...files('/w/b', 3), ...files('/w', 1)], 6);
    expect(found).toEqual([...files('/w/b', 3), ...files('/w', 1), '/w/a']);
  });

  test('of folders in a hidden folder are hidden with it', () => {
    const found = pathsToHide('/w', [...files('/w/a', 10), ...files('/w/a/deep', 9)], 3);
    expect(found).toEqual(['/w/a']);
  });

  test('are too many if they lie in the workspace itself, or in too many folders', () => {
    expect(pathsToHide('/w', files('/w', 9), 5)).toBeUndefined();
    expect(
      pathsToHide(
        '/w',
        Array.from({ length: 20 }, (_, i) => `/w/${i}/.env`),
        5,
      ),
    ).toBeUndefined();
  });
});
