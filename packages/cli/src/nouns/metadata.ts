import { ApiError, type RouteRow } from "@harrier/client";
import type { OptionRow, Verb } from "../command.ts";
import { usage } from "../exit.ts";
import type { Column } from "../output/columns.ts";
import { type Kind, refOf } from "../resolve.ts";
import { calling } from "./reads.ts";

interface MetadataRows {
  readonly listMetadata: RouteRow;
  readonly createMetadata: RouteRow;
  readonly getMetadata: RouteRow;
  readonly updateMetadata: RouteRow;
  readonly deleteMetadata: RouteRow;
}

const columns: readonly Column[] = [
  { head: "KEY", at: "key" },
  { head: "VALUE", at: "value" },
];

/** The metadata of targets, sets and modules: without a key all, with one its value, with a value it is set. */
export function metadataVerb(of: Kind & { readonly param: string }, rows: MetadataRows, more: readonly OptionRow[] = []): Verb {
  return {
    name: "metadata",
    summary: `List the metadata of a ${of.word}, show an entry, or set it`,
    args: "<name> [key] [value]",
    completes: [of],
    writes: true,
    destructive: true,
    options: [["--delete", "delete the entry"], ...more],
    async run(session, [name = "", metadataKey, value], options) {
      const params = { [of.param]: await refOf(session, of, name) };
      const one = { ...params, metadataKey: metadataKey ?? "" };
      if (metadataKey === undefined) return session.rows(session.list(rows.listMetadata, { all: true }, { params }), columns);
      if (options["delete"]) {
        if (value !== undefined) throw usage("--delete takes no value");
        await session.confirm(`Delete ${metadataKey} of the ${of.word} ${name}`);
        await calling(session, "write")(rows.deleteMetadata, { params: one });
        return session.note(`${metadataKey} is deleted`);
      }
      if (value === undefined) return session.one(await calling(session, "read")(rows.getMetadata, { params: one }), columns);
      const visible = options["visible"] ? { targetVisible: true } : {};
      try {
        await calling(session, "write")(rows.updateMetadata, { params: one, body: { value, ...visible } });
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 404) throw error;
        await calling(session, "write")(rows.createMetadata, { params, body: [{ key: metadataKey, value, ...visible }] });
      }
      session.note(`${metadataKey} is set`);
    },
  };
}
