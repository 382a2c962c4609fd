import { compileGlob, matchesGlob } from "../review/record/glob";

/** A test for names of files: a glob, or a folder or file and all below it. */
export function within(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined || pattern === "") return () => true;
  const clean = pattern.replace(/^\.\//, "").replace(/\/+$/, "");
  if (!/[*?[{]/.test(clean)) return (name) => name === clean || name.startsWith(`${clean}/`);
  const glob = compileGlob(clean.includes("/") ? clean : `**/${clean}`);
  return (name) => matchesGlob(glob, name);
}
