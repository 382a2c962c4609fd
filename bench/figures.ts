/** All that the bench measures. A floor is measured in the same run, without any plugin. */
export interface Figure {
  id: string;
  title: string;
  unit: "ms" | "µs" | "MB" | "/s";
  /** What the floor is; its values are measured under the same id. */
  floor?: string;
  target?: Target;
}

/** `most` in the figure's unit, `times` the floor, or so much `over` it. */
export type Target = { most: number } | { times: number } | { over: number };

const PROGRAM = "a bare compiled Bun program";
const EMPTY = "an empty autocommand";
const BARE = "a bare compiled Bun.serve";
const UP = "a server that is up before Neovim";
const ECHO = "a bare compiled Bun.serve, echoing";
const TRIP = "the same echo and a bare msgpack round trip";
const SIZE = "an echo of as many bytes and a bare msgpack round trip";
const TAKEN = "the same for a bare compiled Bun.serve beside Neovim";
const IDLE = "the same time without work";
const CHECKTIME = "Neovim's own :checktime of the same file";
const DIFFTHIS = "Neovim's own :diffthis on the same text";
const ADD = "git add -A into a copied index";
const READ = "reading the 200 files";
const BUFLOAD = "Neovim's own bufload() of such a file";
const SERVER = "the language server itself, asked by Neovim";
const DIRECT = "the same without the relay";
const SPLIT = "reading and splitting that file";

export const FIGURES: readonly Figure[] = [
  at("setup", "setup()", "ms", "an empty module", { most: 3 }),
  at("ready", "Neovim's start to MCP ready", "ms", "Neovim's and a bare Bun.serve's start", {
    most: 70,
  }),
  at("behind", "… after Neovim is up, with forty plugins behind setup()", "ms", UP, {
    most: 5,
  }),
  at("cursor", "one cursor movement, over an empty autocommand", "µs", EMPTY, { most: 2 }),
  ...trip("ping", "ping", ECHO),
  ...trip("list", "tools/list", ECHO),
  ...trip("dirty", "checkDocumentDirty", TRIP),
  ...trip("editors", "getOpenEditors, 200 buffers", TRIP, { most: 1 }),
  ...trip("diagnostics-one", "getDiagnostics of one file (100)", TRIP),
  ...trip("diagnostics-1000", "getDiagnostics of 1,000", SIZE, { most: 4 }),
  ...trip("diagnostics-10000", "getDiagnostics of 10,000", SIZE),
  ...still("messages", "20 messages of 2 MB", TAKEN, { most: 0 }),
  ...still("diagnostics", "20 × getDiagnostics of 10,000", IDLE, { most: 150 }),
  ...still("changing", "20 × the same, 1,000 of them new each time", IDLE),
  at("diff-shown", "openDiff of 1 MB, shown", "ms", DIFFTHIS, { times: 1.5 }),
  at("diff-longest", "… longest standstill", "ms", DIFFTHIS),
  at("diff-sum", "… standstill in all", "ms", DIFFTHIS),
  at("diff-move", "… a cursor movement in it", "ms", DIFFTHIS),
  at("diff-type", "… a key typed into it", "ms", DIFFTHIS, { most: 16 }),
  at("reload", "a line of 3 MB changes on disk, reloaded", "ms", CHECKTIME, { times: 3 }),
  at("hook", "a hook's run", "ms", PROGRAM, { most: 60 }),
  ...recorded(10_000),
  ...recorded(100_000),
  at("review-list-first", "review of 500 hunks in 200 files, after a start", "ms", READ),
  at("review-list", "… again", "ms", READ, { most: 16 }),
  at("review-journal", "… of a journal of 100,000 records: processor time", "ms"),
  at("review-journal-longest", "… longest time without a turn for others", "ms", undefined, {
    most: 50,
  }),
  at("review-listed", "… listed: Neovim stands still, longest", "ms", undefined, { most: 16 }),
  at("review-listed-cpu", "… Neovim's processor time", "ms"),
  at("review-marks", "20,000 rows with 300 hunks, drawn: longest standstill", "ms", undefined, {
    most: 16,
  }),
  at("review-marks-cpu", "… Neovim's processor time", "ms"),
  ...decision("keep", "… a hunk of them kept: longest standstill"),
  ...decision("undo", "… a hunk of them undone: longest standstill"),
  at("review-next", "… on to the next hunk: longest standstill", "ms", undefined, { most: 16 }),
  at("conversation-shown", "a conversation of 50 MB is shown", "ms", undefined, { most: 150 }),
  at("conversation-still", "… Neovim stands still, longest", "ms", undefined, { most: 16 }),
  at("conversation-filled", "… while the rest is filled in, longest", "ms", undefined, {
    most: 16,
  }),
  at("conversation-entry", "… an entry is in it after the CLI wrote it", "ms", undefined, {
    most: 150,
  }),
  at("prompt-completion", "a file's name completed, of 5,000", "ms", undefined, { most: 30 }),
  at("review-storage", "what is stored of these files", "MB", "the files", { times: 3 }),
  at("review-long", "a key typed into 20,000 rows with 300 hunks", "ms", SPLIT, { most: 16 }),
  at("review-rewritten", "… and all 20,000 rows replaced", "ms", SPLIT),
  ...references("references", "find_references, 22 uses", { over: 20 }),
  ...references("references-many", "… 1,995 uses", { most: 300 }),
  at("hidden-still", "… a file loaded for it: Neovim stands still", "ms", BUFLOAD, { most: 5 }),
  at("rename-still", "… a rename in 400 files, checked: longest", "ms", SERVER, { most: 16 }),
  at("sessions-list", "200 past conversations of 5 MB, listed", "ms", PROGRAM, { most: 100 }),
  at("sessions-listed", "… shown: Neovim stands still, longest", "ms", undefined, { most: 5 }),
  at("sessions-redraw", "eight sessions change, drawn", "ms", undefined, { most: 16 }),
  at("remote-trip", "checkDocumentDirty over a relay, p50", "ms", DIRECT, { over: 2 }),
  at("remote-diff", "… an openDiff of 2 MB, refused", "ms", DIRECT, { most: 100 }),
  at("remote-still", "… 20 messages of 2 MB: Neovim stands still longer by", "ms", undefined, {
    most: 0,
  }),
  at("remote-cpu", "… Neovim's processor time, more by", "ms"),
  at("memory-relay", "… the relay, resident, at rest", "MB", BARE, { most: 45 }),
  at("memory-relay-after", "… after that", "MB"),
  at("wake-ups", "wake-ups of the server at rest, with a client", "/s", BARE, { most: 0.5 }),
  at("memory-private", "… its own memory (private, dirty)", "MB", BARE, { most: 12 }),
  at("memory-ten", "… of ten open Neovims, in all (Pss)", "MB"),
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

function recorded(files: number): Figure[] {
  const figures = (id: string, title: string) => [
    at(`record-${id}-${files}-p50`, `${title}, p50`, "ms", undefined, { most: 60 }),
    at(`record-${id}-${files}-p95`, "… p95", "ms"),
  ];
  return [
    ...figures("edit", `… recording an Edit, ${files.toLocaleString("en")} files`),
    ...figures("bash", "… recording a Bash command"),
    ...figures("prompt", "… recording a prompt"),
    at(`comparison-${files}`, "the work tree compared beside it", "ms", ADD, { times: 1.3 }),
  ];
}

function decision(id: string, title: string): Figure[] {
  return [
    at(`review-${id}`, title, "ms", undefined, { most: 16 }),
    at(`review-${id}-cpu`, "… Neovim's processor time", "ms"),
    at(`review-${id}-shown`, "… from the key to its marks", "ms", undefined, { most: 100 }),
  ];
}

function references(id: string, title: string, target: Target): Figure[] {
  return [
    at(`${id}-p50`, `${title}, p50`, "ms", SERVER, target),
    at(`${id}-p95`, "… p95", "ms", SERVER),
    at(`${id}-still`, "… Neovim stands still, longest", "ms", SERVER, { most: 5 }),
  ];
}

/** Standstill is what goes beyond an idle Neovim's; processor time is Neovim's own. */
function still(id: string, title: string, floor: string, target?: Target): Figure[] {
  return [
    at(`${id}-sum`, `${title}: Neovim stands still, in all`, "ms", floor, target),
    at(`${id}-longest`, "… longest", "ms", floor),
    at(`${id}-cpu`, "… Neovim's processor time", "ms", floor),
  ];
}
