/**
 * File URIs and the paths they stand for. Paths are absolute, with the system's own separators, or those of the system
 * that `windows` names. Clients send URIs percent-encoded (RFC 8089) or raw (`file://` + path, as Claude Code does).
 */
import { attempt } from "./errors";

const SCHEME = "file://";
const WINDOWS = process.platform === "win32";

/** `file://` + the path as it is. Claude Code 2.1.330 compares this text byte for byte. */
export function rawUri(path: string, windows = WINDOWS): string {
  return SCHEME + slashes(path, windows);
}

/** A percent-encoded, absolute `file://` URI, as RFC 3986 wants it. */
export function fileUri(path: string, windows = WINDOWS): string {
  return SCHEME + slashes(path, windows).split("/").map(encodeSegment).join("/");
}

/**
 * The paths a URI may mean, most likely first: a raw URI can hold a `%20` that is part of a name, so both readings are
 * offered where they differ. Empty when it is not a file URI of this machine.
 */
export function pathsOfUri(uri: string, windows = WINDOWS): string[] {
  if (!uri.toLowerCase().startsWith(SCHEME)) return [];
  let rest = uri.slice(SCHEME.length);
  if (rest.startsWith("localhost/")) rest = rest.slice("localhost".length);
  if (!rest.startsWith("/")) return [];
  if (windows && /^\/[A-Za-z](:|%3A)/i.test(rest)) rest = rest.slice(1);
  const decoded = attempt(() => decodeURIComponent(rest));
  return decoded === undefined || decoded === rest ? [rest] : [decoded, rest];
}

function slashes(path: string, windows: boolean): string {
  if (!windows) return path;
  const forward = path.replaceAll("\\", "/");
  return forward.startsWith("/") ? forward : `/${forward}`;
}

function encodeSegment(segment: string): string {
  return encodeURIComponent(segment.toWellFormed()).replaceAll("%3A", ":");
}
