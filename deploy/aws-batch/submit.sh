#!/bin/sh
# Registers the job and starts one child for each task of a plan; they learn their numbers from AWS_BATCH_JOB_ARRAY_INDEX.
#
#     deploy/aws-batch/submit.sh QUEUE TASKS
#
# An array has 2 to 10,000 children.
set -eu
queue=${1:?the job queue}
tasks=${2:?the number of tasks in plan.json}
here=$(dirname "$0")
aws batch register-job-definition --cli-input-json "file://$here/job-definition.json"
aws batch submit-job --job-name imagemill --job-queue "$queue" --job-definition imagemill --array-properties "size=$tasks"
