/* schema.h - the tables, brought up to date
 *
 * schema.sql holds a migration for each version. */
#pragma once

#include "store/db.h"

/* Runs the migrations the database lacks, in one transaction. ERROR_TEMP; ERROR_INTEGRITY when
 * a newer program wrote it. */
gboolean schema_migrate(Db *db, GError **error);
