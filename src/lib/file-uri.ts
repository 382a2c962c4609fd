/**
 * File URIs and the paths they stand for. Paths are absolute, with the system's own separators.
 * Clients send URIs percent-encoded (RFC 8089) or raw (`file://` + path, as Claude Code does).
 */

const SCHEME = "file://";

/** `file://` + the path as it is. Claude Code 2.1.330 compares this text byte for byte. */
export function rawUri(path: string): string {
  return SCHEME + slashes(path);
}

/** A percent-encoded, absolute `file://` URI, as RFC 3986 wants it. */
export function fileUri(path: string): string {
  return SCHEME + slashes(path).split("/").map(encodeSegment).join("/");
}

/**
 * The paths a URI may mean, most likely first: a raw URI can hold a `%20` that is part of a name,
 * so both readings are offered where they differ. Empty when it is not a file URI of this machine.
 */
export function pathsOfUri(uri: string): string[] {
  if (!uri.toLowerCase().startsWith(SCHEME)) return [];
  let rest = uri.slice(SCHEME.length);
  if (rest.startsWith("localhost/")) rest = rest.slice("localhost".length);
  if (!rest.startsWith("/")) return [];
  if (process.platform === "win32" && /^\/[A-Za-z](:|%3A)/i.test(rest)) rest = rest.slice(1);
  const decoded = decode(rest);
  return decoded === undefined || decoded === rest ? [rest] : [decoded, rest];
}

function slashes(path: string): string {
  if (process.platform !== "win32") return path;
  const forward = path.replaceAll("\\", "/");
  return forward.startsWith("/") ? forward : `/${forward}`;
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(segment.toWellFormed()).replaceAll("%3A", ":");
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
