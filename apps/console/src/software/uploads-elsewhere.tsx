import { useQuery } from "@tanstack/react-query";
import { ask, change, r } from "../api/client.ts";
import { invalidate } from "../api/query-client.ts";
import { uploads as t } from "../text/en.ts";
import { Confirm } from "../ui/confirm.tsx";
import { bytes } from "../ui/format.ts";
import { Time } from "../ui/time.tsx";
import style from "./software.module.css";

const againMs = 10_000;

interface UploadsElsewhereProps {
  readonly moduleId: number;
  /** The uploads that this browser knows: they are shown with more to do. */
  readonly known: ReadonlySet<string>;
}

/** The unfinished uploads to a module that began in other browsers, on command lines and in pipelines. They take room until somebody gives them up. */
export function UploadsElsewhere({ moduleId, known }: UploadsElsewhereProps) {
  // no event tells how far they are, so they are asked for again while there are any
  const { data = [] } = useQuery({
    ...ask(r.artifactUploads.list),
    refetchInterval: ({ state }) => (state.data === undefined || state.data.length === 0 ? false : againMs),
  });
  const others = data.filter(({ id, softwareModuleId }) => softwareModuleId === moduleId && !known.has(id));
  if (others.length === 0) return null;
  const giveUp = (uploadId: string) =>
    change(r.artifactUploads.cancel, { params: { softwareModuleId: moduleId, uploadId } }).finally(() => invalidate("artifactUploads"));
  return (
    <>
      <h2 className="muted">{t.elsewhere}</h2>
      {others.map(({ id, status, filename, offset, size, openedBy, createdAt }) => (
        <div key={id} className={style["upload"]}>
          <div className={style["uploadHead"]}>
            <b>{filename}</b>
            <span className="muted num">
              {t.storedBy(bytes(offset), bytes(size), openedBy)} <Time at={createdAt} />
            </span>
            <Confirm
              small
              look="ghost"
              why={status === "open" ? undefined : t.completed}
              trigger={t.giveUp}
              title={t.giveUpTitle(filename)}
              text={t.giveUpText(openedBy)}
              button={t.giveUp}
              run={() => giveUp(id)}
            />
          </div>
          <progress max={size} value={offset} aria-label={t.progress(filename)} />
        </div>
      ))}
    </>
  );
}
