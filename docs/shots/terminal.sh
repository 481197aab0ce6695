imagemill check shop.yaml
sed -i s/qualtiy/quality/ shop.yaml
imagemill run shop.yaml photos/ -o shop/
