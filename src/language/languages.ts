import { extname } from "node:path";

/** Files of one language, which use each other's symbols, end in these. */
const FAMILIES = [
  [".c", ".h", ".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".m", ".mm"],
  [".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".astro"],
  [".py", ".pyi", ".pyx"],
  [".java", ".kt", ".kts", ".scala", ".groovy"],
  [".cs", ".razor", ".cshtml", ".vb"],
  [".ex", ".exs", ".heex"],
  [".sh", ".bash"],
];

const BY_EXTENSION = new Map(FAMILIES.flatMap((all) => all.map((one) => [one, all[0] as string])));

/** What is the same for two files whose symbols may be the same. */
export function languageOf(path: string): string {
  const extension = extname(path).toLowerCase();
  return BY_EXTENSION.get(extension) ?? extension;
}
