import { fileURLToPath } from "node:url";

/** The schema of the service, and its folder, where migrations, functions and views are beside `src` and `dist`. */
export const ownSchema = { schema: "controller", folder: fileURLToPath(new URL("..", import.meta.url)) } as const;
