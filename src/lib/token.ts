/** Clients of the server, and mods, send the token of the lock file in this header. */
export const TOKEN_HEADER = "x-claude-code-ide-authorization";

/** Takes the same time wherever the first difference is. */
export function isSame(given: string, token: string | undefined): boolean {
  if (token === undefined) return false;
  const [bytes, wanted] = [Buffer.from(given), Buffer.from(token)];
  const comparable = bytes.length === wanted.length ? bytes : Buffer.alloc(wanted.length);
  return crypto.timingSafeEqual(comparable, wanted) && comparable === bytes;
}
