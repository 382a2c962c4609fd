import { pathToFileURL } from "node:url";
import { eventually, nightly, onEachNeovim, TestClient } from "#test";

/* diagnostics_changed, log_event (spec 03) and the notifications of spec 05. */
const TEXT = "grüße 🦊 fox\nsecond line\nthird\n";

onEachNeovim(
  (session) => {
    let path: string;

    beforeEach(async () => {
      await session.reset();
      path = session.write("dir ü/main.txt", TEXT);
      await session.edit(path);
    });

    test("names every file with changed diagnostics, a burst of changes once", async () => {
      const other = session.write("other.txt", TEXT);
      await session.neovim.lua(
        `
        local namespace = vim.api.nvim_create_namespace("test")
        for _, name in ipairs({ ... }) do
          local buf = vim.fn.bufadd(name)
          vim.fn.bufload(buf)
          for round = 1, 20 do
            vim.diagnostic.set(namespace, buf, { { lnum = 0, col = 0, message = "m" .. round } })
          end
        end`,
        path,
        other,
      );
      const changed = () => session.client.notifications<{ uris: string[] }>("diagnostics_changed");
      await eventually("the files", () => changed().length > 0);
      const uris = changed().flatMap((params) => params.uris);
      expect(uris.sort()).toEqual([path, other].map((name) => pathToFileURL(name).href).sort());
      await session.neovim.lua(`vim.diagnostic.reset()`);
      await eventually("cleared", () => changed().flatMap((params) => params.uris).length === 4);
    });

    test("names a file with diagnostics that is renamed, by both names, and one that is gone", async () => {
      const sent = (...names: string[]) =>
        session.client
          .notifications<{ uris: string[] }>("diagnostics_changed")
          .filter(({ uris }) => names.every((name) => uris.some((uri) => uri.endsWith(name))));
      await session.neovim.lua(`
        vim.diagnostic.set(vim.api.nvim_create_namespace("test"), 0, {
          { lnum = 0, col = 0, message = "wrong" },
        })`);
      expect(await session.client.json("getDiagnostics")).toHaveLength(1);
      await session.neovim.command("keepalt file renamed.txt");
      await eventually("both names", () => sent("/main.txt", "/renamed.txt").length === 1);
      await session.neovim.command("bwipeout! renamed.txt");
      await eventually("it is gone", () => sent("/renamed.txt").length === 2);
      expect(await session.client.json("getDiagnostics")).toEqual([]);
    });

    test("counts selections and positions as spec 05 does, and sends neither to the CLI", async () => {
      using cli = await TestClient.open(session.lock, "claude-code");
      await session.neovim.type("gg0wve");
      const selections = () => session.client.notifications("editor/selection_changed");
      await eventually("the selection", () => selections().at(-1)?.text === "🦊 fox");
      const columns = { line_start: 1, line_end: 1, column_start: 6, column_end: 11 };
      const selection = { active: true, start: 7, end: 12, text: "🦊 fox", ...columns };
      expect(selections().at(-1)).toEqual(selection);
      expect(await session.client.request("editor/selection", {})).toEqual(selections().at(-1));

      await session.neovim.type("<Esc>jl");
      await eventually("no selection", () => selections().at(-1)?.active === false);
      const positions = () => session.client.notifications("editor/position_changed");
      await eventually("the position", () => positions().at(-1)?.line === 2);
      expect(await session.client.request("editor/position", {})).toEqual(positions().at(-1));
      expect(positions().at(-1)).toMatchObject({ buffer: "main.txt", total_lines: 3 });
      expect(session.client.notifications("selection_changed").length).toBeGreaterThan(1);
      await eventually("the selection", () =>
        cli.notifications("selection_changed").some(({ text }) => text === "🦊 fox"),
      );
      expect(cli.notifications("editor/selection_changed")).toEqual([]);
      expect(cli.notifications("editor/position_changed")).toEqual([]);
    });

    nightly.test("sends the selection to a slow CLI for seconds", async () => {
      using cli = await TestClient.open(session.lock, "claude-code");
      await cli.request("tools/list");
      // Up to two come with the connection, one as soon as a fast CLI takes it.
      await eventually("it", () => cli.notifications("selection_changed").length >= 4);
    });

    test("sends nothing to a client before the handshake is over", async () => {
      using early = await TestClient.connect(session.lock);
      await session.neovim.type("gg0wve<Esc>:Claude mention<CR>");
      const mentioned = () => session.client.notifications("at_mentioned").length > 0;
      await eventually("the others get it", mentioned);
      await early.initialize("early");
      // A new resource is reported at once, and to the others as well.
      const listed = () => session.client.notifications("notifications/resources/list_changed");
      const before = listed().length;
      await session.open("new.txt", TEXT);
      await eventually("the others get it", () => listed().length > before);
      expect(early.received.filter(({ method }) => method !== undefined)).toEqual([]);
    });

    test("reports the plugin's commands by log_event, but not to the CLI, which would count them", async () => {
      using cli = await TestClient.open(session.lock, "claude-code");
      const count = session.client.notifications("log_event").length;
      await session.neovim.command("2Claude mention");
      await eventually("the event", () => session.client.notifications("log_event").length > count);
      const event = { eventName: "run_claude_command", eventData: { command: "Claude mention" } };
      expect(session.client.notifications("log_event").at(-1)).toEqual(event);
      await cli.request("ping");
      expect(cli.notifications("log_event")).toEqual([]);
    });
  },
  { constants: ["selection.DEBOUNCE_MS = 30"] },
);
