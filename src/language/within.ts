import { compileGlob, countSpellings, matchesGlob } from "../review/record/glob";

const MOST_SPELLINGS = 1_000;

/** Has a glob few enough alternatives to try them all? */
export function isManageable(pattern: string): boolean {
  return countSpellings(pattern) <= MOST_SPELLINGS;
}

/** A test for names of files: a glob, or a folder or file and all below it. */
export function within(pattern: string | undefined): (name: string) => boolean {
  if (pattern === undefined || pattern === "") return () => true;
  const clean = pattern.replace(/^\.\//, "").replace(/\/+$/, "");
  if (!/[*?[{]/.test(clean)) return (name) => name === clean || name.startsWith(`${clean}/`);
  const glob = compileGlob(clean.includes("/") ? clean : `**/${clean}`);
  return (name) => matchesGlob(glob, name);
}
