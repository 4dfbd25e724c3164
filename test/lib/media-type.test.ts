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
  ['audio/mpeg', '\xff\xf3\x40\xc4'],
  ['audio/aac', '\xff\xf1\x50\x80'],
  ['audio/flac', 'fLaC\0\0\0\x22'],
  ['audio/ogg', 'OggS\0\x02\0\0'],
  ['audio/mp4', '\0\0\0\x20ftypM4A \0\0\0\0'],
  ['video/mp4', '\0\0\0\x20ftypisom\0\0\x02\0'],
  ['video/quicktime', '\0\0\0\x14ftypqt  \0\0\0\0'],
  ['audio/aiff', 'FORM\0\0\0\x24AIFCFVER'],
  ['audio/mp4', '\0\0\0\x20ftypM4B \0\0\0\0'],
  ['video/mp4', '\0\0\0\x1cftypmp42\0\0\0\0'],
  ['video/3gpp', '\0\0\0\x14ftyp3gp5\0\0\0\0'],
  ['video/mpeg', '\0\0\x01\xba\x44\0'],
  ['video/avi', 'RIFF\x24\0\0\0AVI LIST'],
  ['video/x-flv', 'FLV\x01\x05\0\0\0\x09'],
  ['image/gif', 'GIF89a\x2c\x01\x2c\x01\xf7\0\0'],
  ['video/webm', '\x1a\x45\xdf\xa3\x9f\x42\x86\x81'],
])('%s is known by its beginning %j', (type, start) => {
  expect(mediaTypeOf(bytes(start))).toBe(type);
});

test.each([
  ['a picture in the AVIF format', '\0\0\0\x20ftypavif\0\0\0\0'],
  ['the same under a general name', '\0\0\0\x20ftypmif1\0\0\0\0mif1avif'],
  ['a raw picture of a camera', '\0\0\0\x18ftypcrx \0\0\0\x01'],
  ['a Matroska video', '\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\x82\x88matroska'],
  ['an Ogg video', 'OggS\0\x02\0\0\0\0\0\0\0\0\x2a\0\0\0\0\0\0\0\0\0\0\0\x01\x2a\x80theora'],
  ['data that begins with BM', 'BM\x01\x02\x03\x04\x05\x06\x07\x08'],
  ['data with ftyp somewhere', 'abcdftypisom\0\0'],
  ['UTF-16 text', '\xff\xfea\0b\0'],
  ['ones', '\xff\xff\xff\xff'],
])('%s is nothing that models take', (_, start) => {
  expect(mediaTypeOf(bytes(start))).toBeUndefined();
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
  'GIF89a is a format\n',
  'RIFF and WAVE\n',
  'FLV files\n',
  '',
])('the text %j is no medium', (text) => {
  expect(mediaTypeOf(bytes(text))).toBeUndefined();
});

test('a view into a larger buffer is judged by its own bytes', () => {
  const large = bytes('text\x89PNG\r\n\x1a\n');
  expect(mediaTypeOf(large.subarray(4))).toBe('image/png');
  expect(mediaTypeOf(large.subarray(0, 4))).toBeUndefined();
});
