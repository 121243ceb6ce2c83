/** The route table. The bundle has rows without schemas in its place (scripts/bundle.mjs), so that a command starts in milliseconds. */
export { routeTable as r } from "@harrier/contracts";
