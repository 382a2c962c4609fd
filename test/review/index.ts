/** Worlds that have a review: `import { World } from "#review"`. */
export * from "./recorded";
export * from "./repository";
export * from "./state/world";
