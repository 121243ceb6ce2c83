import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { states, software as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { Card } from "../ui/page.tsx";
import { Failure, Skeleton } from "../ui/states.tsx";
import { Tag } from "../ui/status.tsx";
import { TagsDialog } from "../ui/tags-dialog.tsx";
import style from "./software.module.css";

/** The tags of a set, by which sets are found in lists and in queries. */
export function SetTags({ setId }: { setId: number }) {
  const [open, setOpen] = useState(false);
  const { data, error, refetch } = useQuery(ask(r.distributionSets.tags, { params: { distributionSetId: setId } }));
  const lacking = useLacking(r.distributionSetTags.assignOne);
  const button = (
    <Button small why={lacking && states.missing(lacking)} onClick={() => setOpen(true)}>
      {t.setTags}
    </Button>
  );
  return (
    <Card title={t.tags} aside={data && button}>
      {data === undefined && (error === null ? <Skeleton lines={1} /> : <Failure error={error} retry={() => void refetch()} />)}
      {data?.length === 0 && <p className="muted">{t.noTags}</p>}
      <div className={style["tags"]}>
        {data?.map(({ id, name, colour }) => (
          <Tag key={id} name={name} colour={colour} />
        ))}
      </div>
      {open && data !== undefined && <EditTags setId={setId} has={data.map(({ id }) => id)} close={() => setOpen(false)} />}
    </Card>
  );
}

function EditTags({ setId: distributionsetId, has, close }: { setId: number; has: readonly number[]; close: () => void }) {
  const { data, error, refetch } = useQuery(ask(r.distributionSetTags.list, { query: { limit: 500, sort: "name:ASC" } }));
  const put = (distributionsetTagId: number, on: boolean) =>
    change(on ? r.distributionSetTags.assignOne : r.distributionSetTags.unassignOne, {
      params: { distributionsetTagId, distributionsetId },
    });
  return (
    <TagsDialog
      title={t.tagsTitle}
      tags={data?.content}
      reading={error === null ? <Skeleton lines={3} /> : <Failure error={error} retry={() => void refetch()} />}
      none={t.tagsNone}
      has={has}
      put={put}
      after={() => invalidate("distributionSetTags", "distributionSets")}
      close={close}
    />
  );
}
