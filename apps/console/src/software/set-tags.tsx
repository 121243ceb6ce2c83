import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Asked, ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { common, states, software as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { FormDialog } from "../ui/confirm.tsx";
import { Check } from "../ui/field.tsx";
import { Card } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { Tag } from "../ui/status.tsx";
import style from "./software.module.css";

/** So many tags are asked for, one by one, whether a set has them: a set does not say which it has. */
const most = 50;

interface TagOf {
  readonly id: number;
  readonly name: string;
  readonly colour?: string | undefined;
  readonly description?: string | undefined;
}

interface Known {
  readonly tags: readonly TagOf[];
  /** Those that the set has. */
  readonly has: readonly number[];
  readonly total: number;
}

/** The tags that there are, and which of them a set has. */
function askTags(setId: number): Asked<Known> {
  return {
    queryKey: ["distributionSetTags", "ofSet", setId],
    queryFn: async (context) => {
      const page = await ask(r.distributionSetTags.list, { query: { limit: most, sort: "name:ASC" } }).queryFn(context);
      const holds = async ({ id: distributionsetTagId }: TagOf) => {
        const query = { q: `id==${setId}`, limit: 1 };
        const { content } = await ask(r.distributionSetTags.listAssigned, { params: { distributionsetTagId }, query }).queryFn(context);
        return content.length > 0;
      };
      const held = await Promise.all(page.content.map(holds));
      const has = page.content.filter((_, index) => held[index]).map(({ id }) => id);
      return { tags: page.content, has, total: page.total ?? page.content.length };
    },
  };
}

/** The tags of a set, by which sets are found in lists and in queries. */
export function SetTags({ setId }: { setId: number }) {
  const [open, setOpen] = useState(false);
  const { data, error, refetch } = useQuery(askTags(setId));
  const lacking = useLacking(r.distributionSetTags.assignOne);
  const button = (
    <Button small why={lacking && states.missing(lacking)} onClick={() => setOpen(true)}>
      {t.setTags}
    </Button>
  );
  const held = data?.tags.filter(({ id }) => data.has.includes(id)) ?? [];
  return (
    <Card title={t.tags} aside={data && button}>
      {data === undefined && (error === null ? <Skeleton lines={1} /> : <Failure error={error} retry={() => void refetch()} />)}
      {data !== undefined && held.length === 0 && <p className="muted">{t.noTags}</p>}
      <div className={style["tags"]}>
        {held.map(({ id, name, colour }) => (
          <Tag key={id} name={name} colour={colour} />
        ))}
      </div>
      {data !== undefined && data.total > most && <p className="muted">{t.tagsOfFirst(most)}</p>}
      {open && data !== undefined && <TagsDialog setId={setId} known={data} close={() => setOpen(false)} />}
    </Card>
  );
}

/** Gives the set tags, and takes them away, each by itself: what another person does to other tags meanwhile stays. */
function TagsDialog({ setId: distributionsetId, known: { tags, has }, close }: { setId: number; known: Known; close: () => void }) {
  const [edits, setEdits] = useState<Readonly<Record<number, boolean>>>({});
  const changed = Object.entries(edits).filter(([id, on]) => on !== has.includes(Number(id)));
  const run = async () => {
    try {
      for (const [distributionsetTagId, on] of changed) {
        const row = on ? r.distributionSetTags.assignOne : r.distributionSetTags.unassignOne;
        await change(row, { params: { distributionsetTagId, distributionsetId } });
      }
    } finally {
      await invalidate("distributionSetTags", "distributionSets");
    }
  };
  return (
    <FormDialog
      open
      close={close}
      title={t.tagsTitle}
      button={common.save}
      why={changed.length === 0 ? common.nothingChanged : undefined}
      run={run}
    >
      {tags.length === 0 && <p className="muted">{t.tagsNone}</p>}
      {tags.map(({ id, name, description }) => (
        <Check
          key={id}
          label={name}
          {...(description && { hint: description })}
          checked={edits[id] ?? has.includes(id)}
          onChange={(on) => setEdits((old) => ({ ...old, [id]: on }))}
        />
      ))}
    </FormDialog>
  );
}
