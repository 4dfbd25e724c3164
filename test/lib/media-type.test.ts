import { expect, test } from '@jest/globals';
import { mediaTypeOf } from '../../src/lib/media-type.js';

const bytes = (latin1: string) => Buffer.from(latin1, 'latin1');

test.each([
  ['image/png', '\x89PNG\r\n\x1a\n\0\0\0\rIHDR'],
  ['image/jpeg', '\xff\xd8\xff\xe0\0\x10JFIF'],
  ['image/gif', 'GIF89a\x01\0\x01\0'],
  ['image/gif', 'GIF87a\x01\0\x01\0'],
  ['image/webp', 'RIFF\x24\0\0\0WEBPVP8 '],
  ['image/bmp', 'BM\x46\0\0\0\0\0\0\0\x36\0\0\0'],
  ['image/heic', '\0\0\0\x18ftypheic\0\0\0\0'],
  ['image/heif', '\0\0\0\x18ftypmif1\0\0\0\0'],
  ['application/pdf', '%PDF-1.7\n%\xe2\xe3\xcf\xd3'],
  ['audio/wav', 'RIFF\x24\0\0\0WAVEfmt '],
  ['audio/aiff', 'FORM\0\0\0\x24AIFFCOMM'],
  ['audio/mpeg', 'ID3\x04\0\0\0\0\0\0'],
  ['audio/mpeg', '\xff\xfb\x90\0'],
  ['audio/flac', 'fLaC\0\0\0\x22'],
  ['audio/ogg', 'OggS\0\x02\0\0'],
  ['audio/mp4', '\0\0\0\x20ftypM4A \0\0\0\0'],
  ['video/mp4', '\0\0\0\x20ftypisom\0\0\x02\0'],
  ['video/quicktime', '\0\0\0\x14ftypqt  \0\0\0\0'],
  ['video/webm', '\x1a\x45\xdf\xa3\x9f\x42\x86\x81'],
])('%s is known by its beginning %j', (type, start) => {
  expect(mediaTypeOf(bytes(start))).toBe(type);
});

test('a picture in the AVIF format is no video', () => {
  expect(mediaTypeOf(bytes('\0\0\0\x20ftypavif\0\0\0\0'))).not.toBe('video/mp4');
});

test.each([
  'BMW makes cars\n',
  'GIF8 is how such files begin\n',
  'ID3 tags hold the title of a song\n',
  'OggS is a magic number\n',
  'fLaC is another one\n',
  'The big WAVE came\n',
  'Convert WEBP to PNG\n',
  'All the AVI files\n',
  'The ftyp box comes first\n',
  'plain\n',
  '%PDFs are documents\n',
  '',
])('the text %j is no medium', (text) => {
  expect(mediaTypeOf(bytes(text))).toBeUndefined();
});

test('a view into a larger buffer is judged by its own bytes', () => {
  const large = bytes('text\x89PNG\r\n\x1a\n');
  expect(mediaTypeOf(large.subarray(4))).toBe('image/png');
  expect(mediaTypeOf(large.subarray(0, 4))).toBeUndefined();
});
