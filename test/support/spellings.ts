import fc from "fast-check";
import { basename, dirname, IS_WINDOWS, native } from "../../src/lib/platform";

const TOP = IS_WINDOWS ? "C:/" : "/";
/** Parts that do not change a path, between two of its parts or at its end. */
const NOISE = fc.constantFrom("/", "//", "/./", "/.//", "/x/../", "/x/y/../../", "/./x/.././");
const BEHIND = fc.constantFrom(..."||/|//|/.|/./|/x/..|/../SAME|/x/../../SAME/".split("|"));

/** Ways to write the path of that absolute file, each of which leads to it. */
export function spellings(path: string, root: string): fc.Arbitrary<string> {
  const relative = path.slice(root.length + 1);
  const same = `${dirname(root)}/x/../${basename(root)}/`;
  const other = IS_WINDOWS ? `${native(root)}\\` : `/proc/self/root${root}/`;
  const start = fc.constantFrom("", `${root}/`, other, same);
  const noise = fc.array(NOISE, { minLength: 1, maxLength: 4 });
  return fc.tuple(start, noise, BEHIND).map(([from, between, behind]) => {
    const parts = relative.split("/");
    const spelled = parts.map((part, i) =>
      i === 0 ? part : `${between[i % between.length]}${part}`,
    );
    return from + spelled.join("") + behind.replace("SAME", basename(path));
  });
}

/** Some letters in the other case, composed or decomposed: often another file, or none. */
export function disguises(path: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.array(fc.boolean(), { minLength: 8, maxLength: 8 }), fc.constantFrom("NFC", "NFD"))
    .map(([upper, form]) => {
      const name = Array.from(basename(path), (letter, i) =>
        upper[i % upper.length] ? letter.toUpperCase() : letter.toLowerCase(),
      );
      return `${dirname(path)}/${name.join("").normalize(form)}`;
    });
}

/** A file URI with some of its characters as percent signs and digits. */
export function uris(path: string): fc.Arbitrary<string> {
  return fc.array(fc.boolean(), { minLength: 5, maxLength: 11 }).map((encoded) => {
    const bytes = Array.from(Buffer.from(path), (byte, i) => {
      const isPlain =
        byte < 0x80 && byte !== 0x25 && (i < TOP.length || !encoded[i % encoded.length]);
      return isPlain ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`;
    });
    return `file://${IS_WINDOWS ? "/" : ""}${bytes.join("")}`;
  });
}
