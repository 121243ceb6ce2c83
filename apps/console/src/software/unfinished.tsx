import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, ask, change, r } from "../api/client.ts";
import { uploads as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { bytes } from "../ui/format.ts";
import { Failure, Note, Refusal } from "../ui/states.tsx";
import { Time } from "../ui/time.tsx";
import { headOf } from "./hash.ts";
import style from "./software.module.css";
import { isSameFile, type Unfinished as Kept } from "./unfinished.state.ts";

interface UnfinishedProps {
  readonly moduleId: number;
  readonly upload: Kept;
  /** Goes on with the file. */
  readonly goOn: (file: File) => void;
  /** It is over, or somebody has given it up. */
  readonly forget: () => void;
}

/** An upload that was begun in this browser and not ended: it goes on with the same file, or is given up. */
export function Unfinished({ moduleId, upload, goOn, forget }: UnfinishedProps) {
  const params = { softwareModuleId: moduleId, uploadId: upload.uploadId };
  const { data, error, refetch } = useQuery(ask(r.artifactUploads.get, { params }));
  const [wrong, setWrong] = useState(false);
  const [refused, setRefused] = useState<unknown>();
  const choose = async (file: File | undefined) => {
    if (file === undefined) return;
    const same = isSameFile(upload, file, upload.head && (await headOf(file)));
    setWrong(!same);
    if (same) goOn(file);
  };
  const giveUp = () => change(r.artifactUploads.cancel, { params }).then(forget, setRefused);
  const isOpen = data?.status === "open";
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <div className={style["upload"]}>
      <div className={style["uploadHead"]}>
        <b>{upload.name}</b>
        {isOpen && (
          <>
            <span className="muted num">
              {t.stored(bytes(data.offset), bytes(upload.size))} <Time at={data.expiresAt} />
            </span>
            <label className={style["pick"]}>
              <span className={buttonClass(undefined, true)}>{t.goOn}</span>
              <input type="file" aria-label={t.goOnWith(upload.name)} onChange={(event) => void choose(event.target.files?.[0])} />
            </label>
            <Button small look="ghost" onClick={() => void giveUp()}>
              {t.cancel}
            </Button>
          </>
        )}
        {(isGone || (data !== undefined && !isOpen)) && (
          <Button small look="ghost" onClick={forget}>
            {t.dismiss}
          </Button>
        )}
      </div>
      {isOpen && <progress max={upload.size} value={data.offset} aria-label={t.progress(upload.name)} />}
      {data !== undefined && !isOpen && <span className="muted">{t.completed}</span>}
      {isGone ? <Note tone="warn">{t.over}</Note> : error !== null && <Failure error={error} retry={() => void refetch()} />}
      {wrong && (
        <Note tone="bad" alert>
          {t.otherFile(upload.name, bytes(upload.size))}
        </Note>
      )}
      <Refusal error={refused} />
    </div>
  );
}
