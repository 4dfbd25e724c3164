import { createHash } from 'node:crypto';
import { Html, markup } from './markup.js';

export interface Frame {
  readonly title: string;
  /** The only script that runs on the page, and its only stylesheet. */
  readonly script: string;
  readonly style: string;
  /** A further skip link besides the one to the content: its id and its text. */
  readonly skip: readonly [id: string, text: string];
}

/** Everything before the content of a page. Nothing is loaded, and only this project's code and styles apply. */
export function frameStart({ title, script, style, skip: [id, text] }: Frame): Html {
  const policy = [
    "default-src 'none'",
    `script-src ${textHash(script)}`,
    `style-src ${textHash(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${Html.trusted(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${Html.trusted(style)}</style>
</head>
<body>
<nav class="skip" aria-label="Skip"><a href="#main">Skip to the content</a> <a href="#${id}">${text}</a></nav>
`;
}

function textHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}
