/** Everything that most tests use: `import { eventually, onEachNeovim, test } from "#test"`. */
export { setDefaultTimeout, setSystemTime, spyOn } from "bun:test";
export * from "./claims";
export * from "./client";
export * from "./eventually";
export * from "./lifetimes";
export * from "./neovim";
export * from "./outcome";
export * from "./platform-skip";
export { oneLine, titledPlays } from "./plays";
export * from "./process";
export * from "./rows";
export * from "./session";
export { claudeCli, first, TOOLCHAIN } from "./toolchain";
