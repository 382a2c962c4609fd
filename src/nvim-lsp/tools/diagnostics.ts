import * as v from "valibot";
import type { Diagnostic, FileProblems, Problems } from "../../editor/model";
import { SEVERITY_NAMES } from "../../editor/state";
import { failureCode, message } from "../../lib/errors";
import { isAbsolute, relative } from "../../lib/platform";
import type { FollowedNeovim } from "../../locate/followed";
import { failed, json, texts } from "../../mcp/protocol";
import { defineTool, type Tool } from "../../mcp/tool";
import { ALWAYS_LOADED } from "./language";

/** The time that language servers get to report on a text that Neovim has just written or loaded. */
const TIMES = { waitMs: 1_500, busyMs: 15_000 };

/** The id of a Claude session, and the CLI's process: `/clear` changes its session. */
export interface Caller {
  session?: string;
  pid: number;
}

/** The tools of spec 04, section 2.2. */
export function diagnosticsTools(neovim: FollowedNeovim, caller: Caller) {
  return [
    getDiagnostics(neovim),
    getDiagnosticContext(neovim),
    getDiagnosticSummary(neovim),
    getSessionDiagnostics(neovim, caller),
  ];
}

/** All files with problems. */
function allProblems(neovim: FollowedNeovim): Promise<Problems> {
  return neovim.askWhenSettled("problems", {}, TIMES);
}

const Paths = v.optional(
  v.pipe(
    v.nullable(v.union([v.array(v.string()), v.string()])),
    v.description("Files to check, as a list or a single path; all open buffers if left out"),
  ),
);

function getDiagnostics(neovim: FollowedNeovim): Tool {
  return defineTool({
    name: "get_diagnostics",
    description:
      "Get LSP diagnostics for specific files or all buffers: path → line and column (1-based), severity, message, source",
    input: v.object({ file_paths: Paths }),
    annotations: { readOnlyHint: true },
    async call({ file_paths }) {
      const paths = typeof file_paths === "string" ? [file_paths] : (file_paths ?? []);
      if (paths.length === 0) return json(byFile(await allProblems(neovim)));
      const files = paths.map((path) => neovim.candidates(path));
      return reported(await neovim.askWhenSettled("problems", { files, load: true }, TIMES));
    },
  });
}

/** The number of lines shown before and after the line. */
const AROUND = 5;

const Place = v.object({
  file_path: v.pipe(v.string(), v.description("The file, absolute or relative to the workspace")),
  line: v.pipe(v.number(), v.integer(), v.minValue(1), v.description("Line number, from 1")),
});

function getDiagnosticContext(neovim: FollowedNeovim): Tool {
  return defineTool({
    name: "get_diagnostic_context",
    description: "Get the code around a diagnostic, with the diagnostics of that line",
    input: Place,
    annotations: { readOnlyHint: true },
    async call({ file_path, line }) {
      try {
        const file = neovim.candidates(file_path);
        const found = await neovim.ask("problem_context", { file, line, count: AROUND });
        return json({
          diagnostics: found.items.map(listed),
          context: { lines: found.lines, start_line: found.start_line, target_line: line },
          filetype: found.filetype,
        });
      } catch (error) {
        if (!["not_open", "no_line", "private"].includes(failureCode(error) ?? "")) throw error;
        // By the specification, a missing file or line is data, not an error.
        return failed(JSON.stringify({ error: message(error) }));
      }
    },
  });
}

function getDiagnosticSummary(neovim: FollowedNeovim): Tool {
  return defineTool({
    name: "get_diagnostic_summary",
    description: "Get a summary of all diagnostics across the project: counts, and the files",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    async call() {
      const { files, folders } = await allProblems(neovim);
      const counted = files
        .map((file) => ({
          file: nameOf(file, folders),
          errors: countOf(1, file),
          warnings: countOf(2, file),
        }))
        .filter(({ errors, warnings }) => errors + warnings > 0);
      return json({
        total_errors: counted.reduce((sum, { errors }) => sum + errors, 0),
        total_warnings: counted.reduce((sum, { warnings }) => sum + warnings, 0),
        files_with_issues: counted,
      });
    },
  });
}

function countOf(severity: number, { items }: FileProblems): number {
  return items.filter((item) => item.severity === severity).length;
}

/** The Stop hook asks Claude to call this. */
function getSessionDiagnostics(neovim: FollowedNeovim, caller: Caller): Tool {
  return defineTool({
    name: "get_session_diagnostics",
    description: "Get diagnostics only for files edited in the current Claude session",
    input: v.object({}),
    annotations: { readOnlyHint: true },
    meta: ALWAYS_LOADED,
    async call() {
      return reported(await neovim.askWhenSettled("session_problems", caller, TIMES));
    },
  });
}

/** Adds a note if problems of some files are unknown. */
function reported(found: Problems) {
  const list = JSON.stringify(byFile(found));
  return found.unknown ? texts(list, found.unknown) : texts(list);
}

/** One diagnostic in the shape of spec 04, section 2.3; line and column 1-based. */
function listed(item: Diagnostic): object {
  return {
    line: item.lnum + 1,
    column: item.col + 1,
    severity: SEVERITY_NAMES.vim[item.severity - 1],
    message: item.message,
    source: item.source ?? "lsp",
  };
}

/** `{ path: [diagnostic, …] }`, without files that have no diagnostics. */
function byFile({ files, folders }: Problems): Record<string, object[]> {
  const entries = files
    .filter(({ items }) => items.length > 0)
    .map((file) => [nameOf(file, folders), file.items.map(listed)] as const);
  return Object.fromEntries(entries);
}

/**
 * A file's path, relative to Neovim's working folder (`fnamemodify(…, ":.")` in spec 04). It is absolute outside that
 * folder, because two folders may have files of the same name.
 */
function nameOf(file: Pick<FileProblems, "path" | "real">, [cwd]: string[]): string {
  if (cwd === undefined) return file.path;
  for (const path of [file.real, file.path]) {
    const name = relative(cwd, path);
    if (name !== "" && !name.startsWith("..") && !isAbsolute(name)) return name;
  }
  return file.path;
}
