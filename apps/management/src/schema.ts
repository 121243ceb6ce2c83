import { fileURLToPath } from "node:url";

/** This is the schema of the service, and its folder, where migrations, functions and views are beside `src` and `dist`. */
export const ownSchema = { schema: "management", folder: fileURLToPath(new URL("..", import.meta.url)) } as const;
