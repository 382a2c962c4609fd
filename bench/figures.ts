/** The bench measures these figures. A floor is measured in the same run, without any plugin. */
export interface Figure {
  id: string;
  title: string;
  unit: "ms" | "µs" | "MB";
  /** The name of the floor. Its values have the same id. */
  floor?: string;
  target?: Target;
}

/** At most `most`, in the figure's unit, `times` the floor, or `more` than the floor. */
export type Target = { most: number } | { times: number } | { more: number };

const ECHO = "a bare compiled Bun.serve, echoing";
const TRIP = "the same echo and a bare msgpack round trip";
const TAKEN = "the same for a bare compiled Bun.serve beside Neovim";
const DIFFTHIS = "Neovim's own :diffthis on the same text";
const NO_MOD = "the same with terminal.mod = false";
const BARE = "a bare compiled Bun.serve";

/** The longest standstill with 2,000 changed files, one of which has 6,667 hunks. */
const REVIEW = [
  ["open", "a big review opens: longest standstill"],
  ["move", "… moves through hunks and files"],
  ["keep", "… keeps a hunk"],
  ["undo", "… undoes a hunk"],
  ["close", "… closes"],
] as const;

export const FIGURES: readonly Figure[] = [
  at("setup", "setup()", "ms", "an empty module", { most: 0.5 }),
  at("ready", "Neovim's start to MCP ready", "ms", "Neovim's and a bare Bun.serve's start", {
    most: 70,
  }),
  at("cursor", "one cursor movement, over an empty autocommand", "µs", "an empty autocommand", {
    most: 2,
  }),
  ...trip("ping", "ping", ECHO),
  ...trip("dirty", "checkDocumentDirty", TRIP),
  ...trip("editors", "getOpenEditors, 200 buffers", TRIP, { most: 1 }),
  ...trip("diagnostics", "getDiagnostics of 1,000", TRIP, { most: 4 }),
  ...still("messages", "20 messages of 2 MB", TAKEN, { most: 0 }),
  ...still("asked", "20 × getDiagnostics of 10,000", "the same time without work", { most: 150 }),
  at("diff-shown", "openDiff of 1 MB, shown", "ms", DIFFTHIS, { times: 1.5 }),
  at("diff-longest", "… longest standstill", "ms", DIFFTHIS),
  at("diff-move", "… a cursor movement in it", "ms", DIFFTHIS),
  at("diff-type", "… a key typed into it", "ms", DIFFTHIS, { most: 16 }),
  ...REVIEW.map(([id, title]) => at(`review-${id}`, title, "ms", undefined, { most: 33 })),
  at("hook", "a hook's run", "ms", "a bare compiled Bun program", { most: 10 }),
  at("cli", ":Claude to the CLI's prompt", "ms", NO_MOD, { more: 200 }),
  at("prompt", "a prompt of :Claude send! at the model", "ms", NO_MOD, { most: 150 }),
  at("memory-cli", "the CLI, resident, at rest", "MB", NO_MOD, { more: 64 }),
  at("journal", "review of a journal of 100,000 records: processor time", "ms"),
  at("journal-longest", "… longest time without a turn for others", "ms", undefined, { most: 50 }),
  at("memory-server", "server, resident, at rest", "MB", BARE, { most: 64 }),
  at("memory-server-after", "… after all of the above", "MB"),
  at("memory-editor", "Neovim, resident, at rest", "MB", "Neovim without a plugin"),
  at("memory-editor-after", "… after all of the above", "MB"),
];

function at(
  id: string,
  title: string,
  unit: Figure["unit"],
  floor?: string,
  target?: Target,
): Figure {
  return { id, title, unit, ...(floor && { floor }), ...(target && { target }) };
}

function trip(id: string, title: string, floor: string, target?: Target): Figure[] {
  return [
    at(`${id}-p50`, `${title}, p50`, "ms", floor, target),
    at(`${id}-p99`, "… p99", "ms", floor),
  ];
}

/** Standstill is the difference from an idle Neovim. Processor time is that of Neovim. */
function still(id: string, title: string, floor: string, target: Target): Figure[] {
  return [
    at(`${id}-sum`, `${title}: Neovim stands still, in all`, "ms", floor, target),
    at(`${id}-longest`, "… longest", "ms", floor),
    at(`${id}-cpu`, "… Neovim's processor time", "ms", floor),
  ];
}
