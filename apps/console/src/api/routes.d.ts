/** The rows of the route table without their schemas (vite.config.ts); their types are those of the whole rows. */
declare module "virtual:harrier-routes" {
  export const r: typeof import("@harrier/contracts")["routeTable"];
}
