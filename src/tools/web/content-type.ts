export type ContentKind = 'html' | 'text' | 'media' | 'untold' | 'other';

/** The media type of a Content-Type, without its parameters. */
export function mimeOf(contentType: string): string {
  return (contentType.split(';')[0] ?? '').trim().toLowerCase();
}

/** What a Content-Type promises. `untold`: nothing, so the bytes decide. */
export function kindOfType(contentType: string): ContentKind {
  const mime = mimeOf(contentType);
  if (mime === '' || mime === 'application/octet-stream' || mime === 'binary/octet-stream') return 'untold';
  if (mime === 'text/html' || mime === 'application/xhtml+xml') return 'html';
  if (mime.startsWith('text/') || TEXT.test(mime)) return 'text';
  if (mime.startsWith('image/') || mime === 'application/pdf') return 'media';
  return 'other';
}

const TEXT =
  /^(application\/(json|xml|yaml|x-yaml|toml|sql|graphql|javascript|ecmascript|x-javascript|x-ndjson|x-sh|rtf|x-tex)|image\/svg\+xml)$|\+(json|xml|yaml)$/;
