import { REASON } from "../ide/diffs";
import type { Transport } from "../jsonrpc/message";
import type { JsonObject } from "../lib/json";
import {
  Border,
  type NotificationRule,
  type RequestRule,
  type Rules,
  SHARED_RULES,
  type ToolRule,
  toolRequests,
} from "./border";
import { type Crossing, type Remote, refusal } from "./remote";

/** The transport of a client of the IDE server that runs in a remote. */
export function border(transport: Transport, remote: Remote): Transport {
  return new Border(transport, remote, RULES);
}

/** These answers name no file. */
const unchanged = (blocks: readonly string[]) => [...blocks];

/** The user must see the file: in a hidden buffer, language servers could run the project's code unnoticed. */
function shownOnly(value: unknown): unknown {
  if (value !== false) return value;
  throw refusal("A remote can only show a file: leave out makeFrontmost");
}

const selection: ToolRule = {
  input: {},
  output: ([text = ""], _asked, crossing) => {
    const answer = JSON.parse(text) as JsonObject;
    if (answer.success !== true) return [withError(answer, crossing)];
    const filePath = crossing.pathToRemote(answer.filePath);
    const nothing = { success: false, message: "Nothing is selected in a shared file" };
    return [JSON.stringify(filePath === undefined ? nothing : { ...answer, filePath })];
  },
};

const TOOLS: Readonly<Record<string, ToolRule>> = {
  openDiff: {
    input: {
      old_file_path: "path",
      new_file_path: "path",
      new_file_contents: "plain",
      tab_name: "plain",
    },
    waits: true,
    output([outcome = "", ...rest], asked) {
      if (outcome !== "DIFF_REJECTED") return [outcome, ...rest];
      const [, ...reason] = rest;
      return [outcome, String(asked.tab_name ?? asked.new_file_path), ...reason];
    },
  },
  openFile: {
    input: {
      filePath: "path",
      startText: "plain",
      endText: "plain",
      selectToEndOfLine: "plain",
      makeFrontmost: shownOnly,
    },
    output: (_blocks, asked) => [`Opened file: ${asked.filePath}`],
  },
  getCurrentSelection: selection,
  getLatestSelection: selection,
  getDiagnostics: {
    input: { uri: "uri" },
    output: ([list = ""], _asked, crossing) => [
      JSON.stringify((JSON.parse(list) as JsonObject[]).flatMap((one) => problems(one, crossing))),
    ],
  },
  getOpenEditors: {
    input: {},
    output([text = ""], _asked, crossing) {
      const { tabs } = JSON.parse(text) as { tabs: JsonObject[] };
      return [JSON.stringify({ tabs: tabs.flatMap((tab) => withUri(tab, crossing)) })];
    },
  },
  getWorkspaceFolders: {
    input: {},
    output([text = ""], _asked, crossing) {
      const answer = JSON.parse(text) as { folders: JsonObject[]; rootPath: unknown };
      const folders = answer.folders.flatMap((folder) => {
        const path = crossing.pathToRemote(folder.path);
        return withUri({ ...folder, path, name: path?.split(/[\\/]/).at(-1) }, crossing);
      });
      const rootPath = crossing.pathToRemote(answer.rootPath) ?? folders[0]?.path ?? null;
      return [JSON.stringify({ success: true, folders, rootPath })];
    },
  },
  checkDocumentDirty: {
    input: { filePath: "path" },
    output([text = ""], { filePath }, crossing) {
      const answer = JSON.parse(text) as JsonObject;
      if (answer.success !== true) return [withError(answer, crossing)];
      return [JSON.stringify({ ...answer, filePath })];
    },
  },
  closeAllDiffTabs: { input: {}, output: unchanged },
  close_tab: { input: { tab_name: "plain" }, output: unchanged },
};

const resourceList: RequestRule = {
  params: () => ({}),
  result: ({ resources }, _asked, crossing) => ({
    resources: (resources as JsonObject[]).flatMap((one) =>
      one.uri === REASON ? [one] : withUri(one, crossing),
    ),
  }),
};

const resourceText: RequestRule = {
  params: ({ uri }, crossing) => ({ uri: uri === REASON ? uri : crossing.uriToHost(uri) }),
  result({ contents }, { uri }, crossing) {
    const [{ uri: found, mimeType, text }] = contents as [JsonObject];
    const { map } = crossing.remote;
    if (uri === REASON)
      return { contents: [{ uri, mimeType, text: map.textToRemote(String(text)) }] };
    // The file may have been replaced by a symlink in the meantime.
    if (crossing.uriToRemote(found) === undefined) throw refusal("The file is no longer shared");
    return { contents: [{ uri, mimeType, text }] };
  },
};

/** If the file is not shared, the client learns once that nothing is selected. */
const selectionChanged: NotificationRule = (params, crossing) => {
  const filePath = crossing.pathToRemote(params.filePath);
  const before = crossing.hasSelection;
  crossing.hasSelection = filePath !== undefined;
  if (filePath !== undefined) {
    return { ...params, filePath, fileUrl: crossing.uriToRemote(params.fileUrl) ?? "" };
  }
  const start = { line: 0, character: 0 };
  const nowhere = { start, end: start, isEmpty: true };
  return before ? { text: "", filePath: "", fileUrl: "", selection: nowhere } : undefined;
};

const RULES: Rules = {
  requests: {
    ...SHARED_RULES.requests,
    ...toolRequests(TOOLS),
    "resources/list": resourceList,
    "resources/templates/list": { params: () => ({}), result: (result) => result },
    "resources/read": resourceText,
  },
  reports: {
    ...SHARED_RULES.reports,
    // The client's process id is not valid on this machine.
    ide_connected: () => ({}),
  },
  notifications: {
    selection_changed: selectionChanged,
    at_mentioned: (params, crossing) => {
      if (params.filePath === `ide:${REASON}`) return params;
      const filePath = crossing.pathToRemote(params.filePath);
      return filePath === undefined ? undefined : { ...params, filePath };
    },
    diagnostics_changed: ({ uris }, crossing) => {
      const seen = (uris as unknown[]).flatMap((uri) => crossing.uriToRemote(uri) ?? []);
      return seen.length > 0 ? { uris: seen } : undefined;
    },
    "notifications/resources/list_changed": () => ({}),
  },
};

function withError(answer: JsonObject, { remote }: Crossing): string {
  const message = remote.map.errorToRemote(String(answer.message));
  return JSON.stringify({ success: false, message });
}

function withUri<T extends JsonObject>(one: T, crossing: Crossing): T[] {
  const uri = crossing.uriToRemote(one.uri);
  return uri === undefined ? [] : [{ ...one, uri }];
}

/** The diagnostics of one file in an answer of getDiagnostics. */
function problems({ uri: given, diagnostics }: JsonObject, crossing: Crossing): JsonObject[] {
  const uri = crossing.uriToRemote(given, crossing.isClaudeCode);
  if (uri === undefined) return [];
  const passing = (diagnostics as JsonObject[]).map(
    ({ message, severity, range, source, code }) => ({ message, severity, range, source, code }),
  );
  return [{ uri, diagnostics: crossing.remote.map.dataToRemote(passing) }];
}
