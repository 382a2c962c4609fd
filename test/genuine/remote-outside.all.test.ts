import { afterAll, describe, expect, test } from "bun:test";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { untilAnswered } from "../support/claude";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { Container } from "../support/remote";
import { Terminal } from "../support/tmux";
import { claudeCli, EXECUTABLE, NEWEST } from "../support/toolchain";
import { edit, read } from "../support/turns";
import { eventually } from "./eventually";
import { UPDATED } from "./first-light";
import { CASE_MS, InTerminal, START_MS } from "./in-terminal";

/*
 * Neovim and the CLI on two sides of namespaces, between which only a command leads, as `docker exec -i` does. The
 * sides are alike, so it is the CLI that is in those of its own.
 */
requireNamespace();

/** Passes stdin and stdout to a socket. */
const EXEC = `
  const { connect } = require("node:net");
  const socket = connect(process.argv[2]);
  process.stdin.pipe(socket).pipe(process.stdout);
  socket.on("close", () => process.exit(0));`;

describe("Neovim in a container, Claude outside", () => {
  let outside: Container;
  let terminal: Terminal;
  const claude = new InTerminal();
  const inside = (name: string) => join(Container.PROJECT, name);
  const exec = createServer((socket) => {
    const link = spawn(EXECUTABLE, ["link", "outside"], { cwd: claude.project, env: claude.env });
    socket.pipe(link.stdin);
    link.stdout.pipe(socket);
    socket.on("error", () => {});
  });
  claude.inBlock(NEWEST, {
    files: { "main.lua": `local name = "zero"\nreturn name\n` },
    setup: () =>
      `remotes = { outside = { path_mappings = { ["${Container.PROJECT}"] = "${claude.project}" } } }`,
    prepare: async () => {
      const home = join(claude.root, "inside");
      outside = await Container.start({
        ...{ project: claude.project, at: Container.PROJECT, home, model: claude.model },
        hidden: [claude.home],
      });
      writeFileSync(join(home, "exec.js"), EXEC);
      exec.listen(join(home, "exec.sock"));
    },
  });
  afterAll(async () => {
    await terminal?.close();
    exec.close();
    outside?.stop();
  });

  test(
    "by /ide it connects, its edit is a diff here, and accepted the CLI writes it there",
    async () => {
      const path = (name: string) => `${Container.HOME}/${name}`;
      const command = [process.execPath, path("exec.js"), path("exec.sock")];
      const [program = "", ...args] = outside.exec([EXECUTABLE, "relay", "--", ...command]);
      const relay = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"] });
      const said = await new Promise((resolve) => relay.stdout.once("data", resolve));
      expect(String(said)).toBe(
        `Connected to Neovim: type /ide in a Claude in ${Container.PROJECT}\n`,
      );
      terminal = await Terminal.start({
        command: outside.exec([claudeCli(), "--permission-mode", "default"]),
        cwd: claude.root,
        env: claude.env,
      });
      await terminal.waitFor(/^❯/m, START_MS);
      await terminal.type("/ide");
      await terminal.waitFor(/^❯\s\/ide/m);
      await terminal.press("Enter");
      await terminal.waitFor(/^ +Neovim$/m);
      await terminal.press("Up");
      await terminal.waitFor(/❯ +Neovim$/m);
      await terminal.press("Enter");
      const question = /❯ No, connect with \/ide/;
      await terminal.waitFor(question);
      const isAnswered = async () => !question.test(await terminal.screen());
      expect(await untilAnswered(() => terminal.press("Enter"), isAnswered)).toBe(true);
      const remotes = `return vim.tbl_map(function(client) return client.remote end, require("port").server.clients)`;
      await eventually(() => claude.neovim.lua(remotes), ["outside"], START_MS);
      const main = inside("main.lua");
      claude.model.script([read(main), edit(main, "zero", "one"), [{ text: "Done." }]]);
      await terminal.waitFor(/^❯\s*$/m);
      await terminal.type("change it");
      // A file of the selection may stand before it.
      await terminal.waitFor(/^❯\s.*change it/m);
      await terminal.press("Enter");
      const proposal = `local name = "one"\nreturn name\n`;
      const diff = await claude.neovim.waitForDiff(proposal);
      await claude.neovim.focus(diff.proposed.window);
      await claude.neovim.terminal.press("Enter");
      await claude.model.nextRequest((request) => newsText(request).includes(UPDATED));
      await eventually(() => claude.onDisk("main.lua"), proposal);
      for (const pid of outside.pids(`^${EXECUTABLE} relay `)) process.kill(pid, "SIGINT");
      await eventually(() => claude.neovim.lua(remotes), [], START_MS);
    },
    CASE_MS,
  );
});
