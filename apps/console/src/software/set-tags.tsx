import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Asked, ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, software as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { Tag } from "../ui/status.tsx";
import { TagsDialog } from "../ui/tags-dialog.tsx";
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
  const put = (distributionsetTagId: number, on: boolean) =>
    change(on ? r.distributionSetTags.assignOne : r.distributionSetTags.unassignOne, {
      params: { distributionsetTagId, distributionsetId: setId },
    });
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
      {open && data !== undefined && (
        <TagsDialog
          title={t.tagsTitle}
          tags={data.tags}
          none={t.tagsNone}
          has={data.has}
          put={put}
          after={() => invalidate("distributionSetTags", "distributionSets")}
          close={() => setOpen(false)}
        />
      )}
    </Card>
  );
}
