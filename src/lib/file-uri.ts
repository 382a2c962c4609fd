/*
 * Clients send file URIs percent-encoded (RFC 8089) or raw (`file://` + path), as Claude Code does. Paths are absolute,
 * in the style of our own system unless `windows` says otherwise.
 */

import { attempt } from "./errors";
import { IS_WINDOWS } from "./platform";

const SCHEME = "file://";

/** Not percent-encoded. Claude Code (2.1.330) compares this text byte by byte. */
export function rawUri(path: string, windows = IS_WINDOWS): string {
  return SCHEME + slashes(path, windows);
}

/** Percent-encoded, as RFC 3986 requires. */
export function fileUri(path: string, windows = IS_WINDOWS): string {
  const encoded = encodeURIComponent(slashes(path, windows).toWellFormed());
  return SCHEME + encoded.replaceAll("%2F", "/").replaceAll("%3A", ":");
}

/** The likely paths of a URI, best first: in a raw URI, `%20` is part of the name. Empty for other machines. */
export function pathsOfUri(uri: string, windows = IS_WINDOWS): string[] {
  if (!uri.toLowerCase().startsWith(SCHEME)) return [];
  let rest = uri.slice(SCHEME.length);
  if (rest.startsWith("localhost/")) rest = rest.slice("localhost".length);
  // Claude Code (2.1.332) puts no slash before a drive letter, and the two of a share's name are backslashes.
  const isRaw = windows && /^([A-Za-z]:[\\/]|\\\\)/.test(rest);
  if (!isRaw && !rest.startsWith("/")) return [];
  if (windows && /^\/[A-Za-z](:|%3A)/i.test(rest)) rest = rest.slice(1);
  const decoded = attempt(() => decodeURIComponent(rest));
  return decoded === undefined || decoded === rest ? [rest] : [decoded, rest];
}

function slashes(path: string, windows: boolean): string {
  if (!windows) return path;
  const forward = path.replaceAll("\\", "/");
  return forward.startsWith("/") ? forward : `/${forward}`;
}
